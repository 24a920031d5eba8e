import { SkeinError } from './error.js'
import { nearest } from './nearest.js'
import type { Role, RoleIdentity, RoleNames } from './role.js'
import type { Preset } from './role-preset.js'
import {
  type Allowed,
  escaped,
  type Filling,
  fillTemplate,
  hasPlaceholder,
  literalLength,
  templatePattern,
} from './role-template.js'

/** What a text is taken for. */
export type NameKind = 'session_name' | 'address' | 'mail_address'

export interface RoleFacts {
  roles: readonly Role[]
  preset?: Preset
  /** The directory that `{root}` stands for. */
  root?: string
  /** `{prefix}` of each group. */
  prefixes?: Readonly<Record<string, string>>
  themes?: Readonly<Record<string, RoleTheme>>
}

/** Colours for the tmux sessions of a role, or of groups. */
export interface RoleTheme {
  bg: string
  fg: string
  label?: string
  /** Groups whose agents have it, unless their role has one. */
  groups?: readonly string[]
}

/** Names that Gas Town accepts, as far as they can be part of an address. */
const STRICT = '[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}'
/** A segment of an address, as `address.ts` has it. */
const SEGMENT = '[\\p{L}\\p{N}_][\\p{L}\\p{M}\\p{N}._-]{0,63}'
/** What recognises a name must have this much fixed text: a template of placeholders alone fits everything. */
const isTelling = (template: string): boolean => literalLength(template.replaceAll('/', '')) > 0

/**
 * The roles of a home, and the names of their agents both ways. A name that reads as another agent is refused: what `format` gives,
 * `parse` gives back, also to a reader who does not see the difference between upper and lower case.
 */
export class Roles {
  readonly preset: Preset | undefined
  readonly root: string | undefined
  readonly list: readonly Role[]
  readonly #themes: Readonly<Record<string, RoleTheme>>
  readonly #prefixes: ReadonlyMap<string, string>
  readonly #groups: ReadonlyMap<string, string>

  constructor({ roles, preset, root, prefixes = {}, themes = {} }: RoleFacts) {
    this.#themes = themes
    this.list = roles
    this.preset = preset
    this.root = root === undefined || root === '/' ? root : root.replace(/\/+$/, '')
    this.#prefixes = new Map(Object.entries(prefixes))
    this.#groups = new Map(Object.entries(prefixes).map(([group, prefix]) => [prefix, group]))
  }

  find(name: string): Role | undefined {
    return this.list.find((role) => role.name === name)
  }

  /** Whether the roles name an agent like the group that others are in, as Gas Town's deacon, with its boot below: then both exist. */
  sharesPath(path: string): boolean {
    const head = this.find(this.parse(path)?.role ?? '')
    return head !== undefined && this.list.some((role) => role.address.startsWith(`${head.address}/`))
  }

  /** The role of an agent: the one that its address says, else the one that it was given. */
  of({ address, role }: { address: string; role?: string }): Role | undefined {
    return this.find(this.parse(address)?.role ?? role ?? '')
  }

  prefixOf(group: string): string | undefined {
    return this.#prefixes.get(group)
  }

  /** The theme of the role, else that of the innermost group that has one. */
  themeOf(role: Role | undefined, group: string | undefined): RoleTheme | undefined {
    if (role?.theme !== undefined) return this.#themes[role.theme]
    const segments = group?.split('/') ?? []
    for (let depth = segments.length; depth > 0; depth -= 1) {
      const path = segments.slice(0, depth).join('/')
      const found = Object.values(this.#themes).find(({ groups }) => groups?.includes(path))
      if (found) return found
    }
    return undefined
  }

  /** What an agent is called. Refuses names that the role cannot have, and those that read as another agent. */
  format(identity: RoleIdentity): RoleNames {
    const role = this.find(identity.role)
    if (!role) throw this.#unknown(identity.role)
    this.#check(role, identity)
    const names = this.#names(role, identity)
    for (const kind of ['session_name', 'address', 'mail_address'] as const)
      this.#refuseAlike(role, identity, kind, names)
    if (names.cwd !== undefined) this.#refuseSharedDirectory(role, identity, names.cwd)
    return names
  }

  /** Whom a name belongs to; undefined when it is no role's. */
  parse(text: string, kind: NameKind = 'address'): RoleIdentity | undefined {
    return this.#parse(text, kind, false)
  }

  /** Whose working directory it is, or in whose it is. */
  ofDirectory(cwd: string): RoleIdentity | undefined {
    const path = cwd.length > 1 ? cwd.replace(/\/+$/, '') : cwd
    let best: { identity: RoleIdentity; length: number; literal: number } | undefined
    for (const role of this.list) {
      if (role.cwd === undefined || !isTelling(role.cwd)) continue
      for (const { match, identity } of this.#matches(role, role.cwd, path, { isOpen: true, fold: false })) {
        const filled = fillTemplate(role.cwd, { ...match })
        const length = 'text' in filled ? filled.text.length : 0
        const literal = literalLength(role.cwd)
        if (
          identity.name === '' ||
          (best && (length < best.length || (length === best.length && literal <= best.literal)))
        )
          continue
        best = { identity, length, literal }
      }
    }
    return best?.identity
  }

  #parse(text: string, kind: NameKind, fold: boolean): RoleIdentity | undefined {
    // The more fixed text matched, the surer; of prefixes, the longest.
    let best: { identity: RoleIdentity; weight: number } | undefined
    for (const role of this.list) {
      const template = this.#resolved(role, kind)
      if (!isTelling(template)) continue
      for (const { match, identity } of this.#matches(role, template, text, { isOpen: false, fold })) {
        const weight = literalLength(template) + (match.prefix?.length ?? 0)
        if (!best || weight > best.weight) best = { identity, weight }
      }
    }
    // `gt-crew-` is a crew without a name, not the polecat `crew-`.
    return best?.identity.name === '' ? undefined : best?.identity
  }

  /** `{address}` within another template is the role's own. */
  #resolved(role: Role, kind: NameKind): string {
    return role[kind].replace('{address}', role.address)
  }

  #matches(
    role: Role,
    template: string,
    text: string,
    options: { isOpen: boolean; fold: boolean },
  ): { match: Filling; identity: RoleIdentity }[] {
    const name = `(?:${this.#namePattern()})?`
    const allowed: Allowed = { name, group: this.#groupPattern(), role: escaped(role.name) }
    if (this.root !== undefined) allowed.root = escaped(this.root)
    const prefixes = hasPlaceholder(template, 'prefix') ? [...this.#groups.keys()] : [undefined]
    return prefixes.flatMap((prefix) => {
      const values = prefix === undefined ? allowed : { ...allowed, prefix: escaped(prefix) }
      const match = templatePattern(template, values, options).exec(text)
      if (!match) return []
      const found: Filling = { ...match.groups }
      const owner = prefix === undefined ? undefined : this.#groups.get(prefix)
      const group = found.group ?? owner
      if (owner !== undefined && found.group !== undefined && owner !== found.group) return []
      const identity: RoleIdentity = {
        role: role.name,
        ...(group === undefined ? {} : { group }),
        ...(found.name === undefined ? {} : { name: found.name }),
      }
      return [{ match: found, identity }]
    })
  }

  #names(role: Role, identity: RoleIdentity): RoleNames {
    const filling: Filling = { role: role.name }
    if (identity.group !== undefined) filling.group = identity.group
    if (identity.name !== undefined) filling.name = identity.name
    if (this.root !== undefined) filling.root = this.root
    const prefix = identity.group === undefined ? undefined : this.#prefixes.get(identity.group)
    if (prefix !== undefined) filling.prefix = prefix
    const address = this.#filled(role, identity, withoutGroup(role.address, filling), filling)
    const all = { ...filling, address }
    const cwd = role.cwd === undefined ? undefined : fillTemplate(role.cwd, all)
    return {
      session_name: this.#filled(role, identity, role.session_name, all),
      address,
      mail_address: this.#filled(role, identity, role.mail_address, all),
      ...(cwd && 'text' in cwd ? { cwd: cwd.text } : {}),
    }
  }

  #filled(role: Role, { group }: RoleIdentity, template: string, filling: Filling): string {
    const filled = fillTemplate(template, filling)
    if ('text' in filled) return filled.text
    if (filled.lacks === 'prefix' && group !== undefined) {
      const next = `Set it in config.toml: [roles.prefixes] ${group} = "…"`
      throw new SkeinError('bad-input', `The group ${group} has no prefix, which names of ${role.name} need`, next)
    }
    const option =
      filled.lacks === 'name'
        ? '--agent <name>'
        : filled.lacks === 'root'
          ? '[roles] root in config.toml'
          : `--${filled.lacks} <${filled.lacks}>`
    throw new SkeinError('bad-input', `An agent of the role ${role.name} needs a ${filled.lacks}`, `Give ${option}`)
  }

  #check(role: Role, { group, name }: RoleIdentity): void {
    const takes = (placeholder: 'group' | 'name'): boolean =>
      (['session_name', 'address', 'mail_address'] as const).some(
        (kind) =>
          hasPlaceholder(role[kind], placeholder) || (placeholder === 'group' && hasPlaceholder(role[kind], 'prefix')),
      )
    if (group !== undefined && !takes('group')) throw notTaken(role, 'group')
    if (name !== undefined && !takes('name')) throw notTaken(role, 'name')
    for (const [what, value, pattern] of [
      ['group', group, this.#groupPattern()],
      ['name', name, this.#namePattern()],
    ] as const) {
      if (value === undefined || new RegExp(`^(?:${pattern})$`, 'u').test(value)) continue
      const next = this.preset ? 'Use letters a to z, digits, "_" and "-"' : 'Use letters, digits, ".", "_" and "-"'
      const quoted = JSON.stringify(value.slice(0, 80))
      throw new SkeinError('bad-input', `${quoted} cannot be the ${what} of an agent of the role ${role.name}`, next)
    }
  }

  #refuseAlike(role: Role, identity: RoleIdentity, kind: NameKind, names: RoleNames): void {
    const text = names[kind]
    const exact = this.#parse(text, kind, false)
    const folded = this.#parse(text.normalize('NFKC'), kind, true)
    const isOwn = !isTelling(this.#resolved(role, kind)) && exact === undefined && folded === undefined
    // Only the address has to name one agent; other names may leave out what the template has no place for.
    const isSame = (one: RoleIdentity): boolean =>
      kind === 'address' ? isSameIdentity(one, identity) : isSameIdentity({ ...identity, ...one }, identity)
    if (isOwn || (exact && folded && isSame(exact) && folded.role === identity.role)) return
    const other = exact && !isSame(exact) ? exact : folded
    const what = other ? `reads as ${recipientOf(other)}` : 'cannot be recognised again'
    throw new SkeinError(
      'bad-input',
      `${recipientOf(identity)} would be called ${JSON.stringify(text)}, which ${what}`,
      'Choose another name',
    )
  }

  #refuseSharedDirectory(role: Role, identity: RoleIdentity, cwd: string): void {
    const owner = this.ofDirectory(cwd)
    if (!owner || isSameIdentity({ ...identity, ...owner }, identity)) return
    // The same template on purpose: the overseer sits where the deacon works.
    if (this.find(owner.role)?.cwd === role.cwd && role.name !== owner.role) return
    throw new SkeinError(
      'bad-input',
      `${recipientOf(identity)} would work in ${cwd}, which belongs to ${recipientOf(owner)}`,
      'Choose another name',
    )
  }

  #namePattern(): string {
    return this.preset ? STRICT : SEGMENT
  }

  #groupPattern(): string {
    return this.preset ? STRICT : `${SEGMENT}(?:/${SEGMENT})*`
  }

  #unknown(name: string): SkeinError {
    const names = this.list.map((role) => role.name)
    const meant = nearest(name, names)
    const next = meant ? `Did you mean ${meant} ?` : 'See: skein role list'
    return new SkeinError('bad-input', `There is no role named ${JSON.stringify(name.slice(0, 80))}`, next)
  }
}

/** A person's view of an identity, which no model takes for a path: `crew max (rig: gastown)`. */
export function recipientOf({ role, group, name }: RoleIdentity, word: 'rig' | 'group' = 'rig'): string {
  const place = group === undefined ? '' : ` (${word}: ${group.replaceAll('/', ' › ')})`
  return `${role}${name === undefined ? '' : ` ${name}`}${place}`
}

/** An agent need not be in a group: `{group}/{name}` of an agent without one is its name. */
const withoutGroup = (template: string, { group }: Filling): string =>
  group === undefined && template === '{group}/{name}' ? '{name}' : template

const isSameIdentity = (a: RoleIdentity, b: RoleIdentity): boolean =>
  a.role === b.role && a.group === b.group && a.name === b.name

const notTaken = (role: Role, what: 'group' | 'name'): SkeinError =>
  new SkeinError(
    'bad-input',
    `There is one ${role.name}${what === 'name' ? ' in its place' : ' for all groups'}: it has no ${what} of its own`,
    `Leave out the ${what}`,
  )
