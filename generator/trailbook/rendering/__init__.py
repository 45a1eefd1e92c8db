"""What a log's text looks like in a page: cleaned, escaped, bounded, and never more than text."""
