"""The mobile haptic display: a haptic arm on a robot that follows a walking person."""
