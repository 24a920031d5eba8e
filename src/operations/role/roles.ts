import { nearest, type Role, type Roles, SkeinError } from '../../model/index.js'
import { required } from '../field.js'
import { text } from '../kind.js'
import { operation } from '../operation.js'

export interface RoleList {
  roles: Role[]
  preset?: string
  root?: string
}

export const roleList = operation({
  name: 'role.list',
  does: 'reads',
  where: 'either',
  summary: 'List the roles of agents',
  description:
    'Describe your own roles in config.toml, as [roles.<name>], or choose a preset: [roles] preset = "gastown".',
  input: {},
  result: 'roles',
  async run(_, { home }): Promise<RoleList> {
    const { list, preset, root } = await (await home()).programs.roles()
    return { roles: [...list], ...(preset ? { preset } : {}), ...(root === undefined ? {} : { root }) }
  },
})

export const roleShow = operation({
  name: 'role.show',
  does: 'reads',
  where: 'either',
  summary: 'Show how agents of a role are named and started',
  input: { role: required(text('role'), 'Its name') },
  result: 'role',
  async run({ role }, { home }): Promise<Role> {
    const roles = await (await home()).programs.roles()
    const found = roles.find(role)
    if (!found) throw roleUnknown(role, roles)
    return found
  },
})

function roleUnknown(name: string, { list }: Roles): SkeinError {
  const meant = nearest(
    name,
    list.map((role) => role.name),
  )
  const next = meant
    ? `Did you mean ${meant} ?`
    : `Describe it in config.toml: [roles.${/^[a-z]\w*$/.test(name) ? name : 'name'}]`
  return new SkeinError('role-unknown', `There is no role named ${JSON.stringify(name.slice(0, 80))}`, next)
}
