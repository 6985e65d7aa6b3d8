"""Work shared out among workers."""
