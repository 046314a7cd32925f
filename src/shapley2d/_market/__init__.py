"""Contributors: blocks of a table, who owns them, what they are paid, audits and receipts."""
