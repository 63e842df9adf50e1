"""Speed, side by side with the engines that are installed, in one run and as ratios: `palpate bench`."""
