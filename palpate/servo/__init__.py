"""The beat: whatever is simulated, it is called on time, told what came from outside, and published.  No physics."""
