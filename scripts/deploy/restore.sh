#!/bin/sh
# Restores a backup into a volume that holds data of a newer version, where no server runs: see "Roll back where it runs" in the
# manual. In a container of the older version:  sh -s <folder or bucket of backups> [--backup <id>] < restore.sh
# What was there lies in the folder `newer` of the volume then.
set -eu
[ $# -ge 1 ] || { echo 'Name the folder or bucket of backups' >&2; exit 1; }
from=$1 && shift
data=${DATA_DIR:-/data}
restored=$data/restored
[ ! -e "$data/newer" ] || { echo "$data/newer exists: move or delete it first" >&2; exit 1; }
if node -e "fetch('http://127.0.0.1:${PORT:-4318}/healthz').then(() => 0, () => process.exit(1))"; then
  echo 'A server runs here: stop it first' >&2
  exit 1
fi
# An interrupted restore is begun again.
DATA_DIR=$restored node "${SPANHOUSE_ADMIN:-/app/dist/scripts/admin.js}" restore "$from" "$@"
mkdir "$data/newer"
find "$data" -mindepth 1 -maxdepth 1 ! -name newer ! -name restored ! -name lost+found -exec mv {} "$data/newer/" \;
find "$restored" -mindepth 1 -maxdepth 1 -exec mv {} "$data/" \;
rmdir "$restored"
echo "Restored into $data. What was there before is in $data/newer." >&2
