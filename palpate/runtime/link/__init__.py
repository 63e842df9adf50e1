"""A World at the other end of a link: both ends, in real time and in simulated time."""
