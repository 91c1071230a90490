# SPDX-License-Identifier: Apache-2.0
"""Profiles of programs on the virtual NeuronCores (doc/profile.md), made from the platform's own events.

    profile = collect(read_events(open("events.txt")))  # the text trace of trnvp, trnctl or trn-nki
    write(profile, "profile.html")
"""
from trn_nki.profile.collect import ProfileError, collect
from trn_nki.profile.events import EventError, read_events
from trn_nki.profile.output import files_of, write

__all__ = ["EventError", "ProfileError", "collect", "files_of", "read_events", "write"]
