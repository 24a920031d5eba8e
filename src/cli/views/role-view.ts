import type { Role } from '../../model/index.js'
import { card, type Fact } from '../screen/card.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

export function roleTable(roles: readonly Role[], screen: Screen): string {
  if (roles.length === 0) return 'No roles are configured. See: docs/ROLES.md'
  return table<Role>(
    roles,
    [
      { header: 'ROLE', text: ({ name }) => name },
      { header: 'ADDRESS', text: ({ address }) => address, shrinkTo: 12 },
      { header: 'TMUX SESSION', text: ({ session_name }) => session_name, shrinkTo: 12 },
      { header: 'DIRECTORY', text: ({ cwd }) => cwd ?? '', shrinkTo: 12 },
      { header: 'RESPAWN', text: ({ respawn }) => respawn },
      { header: 'STOPS', text: ({ shutdown_order }) => String(shutdown_order) },
    ],
    screen,
  )
}

export function roleCard({ start, ...role }: Role, screen: Screen): string {
  const shown = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : String(value))
  const facts = Object.entries(role).map(([key, value]): Fact => [key.replaceAll('_', ' '), shown(value)])
  const flags = Object.entries(start).map(([key, value]): Fact => [`start: ${key.replaceAll('_', ' ')}`, shown(value)])
  return card([...facts, ...flags], screen)
}
