"""What every experiment shares: pieces of work, records, the folder, figures and pages."""
