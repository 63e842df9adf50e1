"""What palpate is measured beside: other engines, and plain servers."""
