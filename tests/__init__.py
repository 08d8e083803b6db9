"""The tests; a package so that they can share hosts.py and real_programs.py."""
