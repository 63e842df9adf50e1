"""What things are: frozen descriptions written by people or read from files, compiled to read-only arrays."""
