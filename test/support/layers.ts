/** Bottom first. A folder may import itself and any folder on an earlier line. docs/ARCHITECTURE.md draws the same list, top first. */
export const LAYERS: readonly (readonly string[])[] = [
  ['model'],
  ['disk'],
  ['privacy', 'journal'],
  ['erasure'],
  ['index', 'tools', 'terminal'],
  ['settings'],
  ['store'],
  ['archive'],
  ['ingest'],
  ['history', 'work', 'snapshots', 'conversations'],
  ['purge'],
  ['home'],
  ['lifecycle', 'interchange'],
  ['operations'],
  ['daemon'],
  ['cli', 'tui', 'mcp', 'web'],
]
