// Puts the page together once its data are unpacked.

async function start() {
  const table = await ValuedTable.read();
  interval.factor = table.intervalFactor;
  const view = startMap(table, { onRow: (i, j) => chooseRow(i, j) });

  function chooseRow(i, j = null, scroll = false) {
    showRow(table, i, j);
    view.map.chosenRow = i;
    if (j !== null) view.map.cursor = [view.map.rowOrder.indexOf(i), view.map.columnOrder.indexOf(j)];
    view.redraw();
    if (scroll) {
      byId("row-title").focus({ preventScroll: true });
      byId("row-title").closest("aside").scrollIntoView({ block: "nearest" });
    }
  }

  const [worst] = table.lowest;
  view.map.chosenRow = worst ? worst[0] : 0;
  view.map.draw();
  showRow(table, view.map.chosenRow, worst ? worst[1] : null);
  startCells(table, { onCell: (i, j) => chooseRow(i, j, true) });
  startColumns(table);
  startRows(table, { onRow: (i) => chooseRow(i, null, true) });
  startTableView(table, view);
  drawConvergence(table, view.map.palette);
}

startPage(start);
