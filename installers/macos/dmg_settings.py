"""What dmgbuild puts into the disk image: the application and a link to Applications.

dmgbuild -s installers/macos/dmg_settings.py -D app=dist/Slowscope.app Slowscope out.dmg
"""

from pathlib import Path

# dmgbuild runs this file with `defines`, the values of -D
application = Path(globals()["defines"]["app"])

format = "UDZO"  # the names are dmgbuild's
filesystem = "HFS+"
files = [str(application)]
symlinks = {"Applications": "/Applications"}
icon = "resources/app.icns"
badge_icon = None
icon_locations = {application.name: (140, 150), "Applications": (400, 150)}
window_rect = ((200, 200), (540, 330))
default_view = "icon-view"
show_toolbar = False
icon_size = 112
text_size = 13
