"""The help of commands with many options: ``--help`` shows the common ones, ``--help-all`` all."""

import copy
import inspect
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

HELP_ALL, _ALL = "help_all", "--help-all"


class ShortHelp(TyperCommand):
    """A command whose ``--help`` shows some of its options.

    Attributes
    ----------
    common : dict
        What the help says of each option that it shows, by its long flag; None for what the option
        says of itself.
    """

    common: ClassVar[dict[str, str | None]] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help. Options are left out of it, not hidden: a shell still completes them."""
        if ctx.meta.get(_ALL):
            super().format_help(ctx, formatter)
            return
        shown = copy.copy(self)
        shown.params = [
            _told(one, self.common.get(_flag(one)))
            for one in self.params
            if one.param_type_name == "argument" or _flag(one) in (*self.common, _ALL)
        ]
        more = f"{len(self.params) - len(shown.params)} more options: {ctx.command_path} {_ALL}"
        shown.epilog = f"{self.epilog}\n\n{more}"
        super(ShortHelp, shown).format_help(ctx, formatter)


def short_help(common: dict[str, str | None]) -> type[ShortHelp]:
    """A class of commands with these common options."""
    return type("CommandWithShortHelp", (ShortHelp,), {"common": common})


def help_all() -> inspect.Parameter:
    """The option ``--help-all``, as a parameter of a command."""
    info = typer.Option(
        _ALL,
        help="Show all options and exit.",
        is_eager=True,
        callback=_show_all,
        show_default=False,
    )
    return inspect.Parameter(
        HELP_ALL,
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, info],
    )


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


def _flag(option: Any) -> str:
    return next((flag for flag in option.opts if flag.startswith("--")), "")


def _told(option: Any, text: str | None) -> Any:
    """The option with another text, and without the list of its words."""
    if text is None:
        return option
    told = copy.copy(option)
    told.help, told.metavar = text, "NAME"
    return told
