"""Results as pictures: ``draw`` of each module makes a Figure, ``canvas`` writes it to a file or into a page."""
