import { type Settings, settingsTable } from '../../home/index.js'
import { type Agent, isWithin, parseGroupPath, type Roles } from '../../model/index.js'
import { durationIn } from '../recover/recover-settings.js'

/** `[hibernate]` in the config file, and `hibernate_after` of roles: after how long idle an agent is put to sleep; undefined is never. */
export function parseHibernate(
  settings: Settings,
  file: string,
  roles: Roles,
): (agent: Pick<Agent, 'address' | 'role'>) => number | undefined {
  const table = settingsTable(settings, 'hibernate', file)
  const base = durationIn(table, 'after', '0s', `hibernate.after in ${file}`)
  const agents = settingsTable(table, 'agents', file)
  const named = Object.keys(agents).map(
    (path) => [parseGroupPath(path), durationIn(agents, path, '0s', `hibernate.agents.${path} in ${file}`)] as const,
  )
  return ({ address, role }) => {
    const own = named.filter(([path]) => isWithin(`${address}`, path)).sort(([a], [b]) => b.length - a.length)
    const given = roles.find(role ?? roles.parse(address)?.role ?? '')?.hibernate_after
    const ofRole = given === undefined ? undefined : durationIn({ given }, 'given', '0s', 'hibernate_after')
    const ms = own[0]?.[1] ?? ofRole ?? base
    return ms === 0 ? undefined : ms
  }
}
