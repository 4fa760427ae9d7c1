"""Engines that run processes of their own, with the ranks of a cluster inside of these."""
