import type { Template } from './role.js'

export const PLACEHOLDERS = ['role', 'group', 'prefix', 'name', 'root', 'address'] as const
export type Placeholder = (typeof PLACEHOLDERS)[number]
export type Filling = Partial<Record<Placeholder, string>>

type Piece = { literal: string } | { placeholder: Placeholder }

const PLACEHOLDER = /\{([^{}]*)\}/g

/** What is wrong with a template, in words; undefined when nothing is. */
export function templateFault(template: Template, allowed: readonly Placeholder[]): string | undefined {
  if (template === '') return 'it is empty'
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = names.find((name) => !allowed.includes(name as Placeholder))
  const list = allowed.map((name) => `{${name}}`).join(', ')
  if (unknown !== undefined) return `{${unknown}} is not one of ${list}`
  if (/[{}]/.test(template.replace(PLACEHOLDER, ''))) return 'it has a brace without its partner'
  if (new Set(names).size < names.length) return 'it has a placeholder twice'
  // Two in a row cannot be told apart again.
  if (/\}\{/.test(template)) return 'two placeholders touch'
  return undefined
}

function pieces(template: Template): Piece[] {
  const found: Piece[] = []
  let end = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    if (match.index > end) found.push({ literal: template.slice(end, match.index) })
    found.push({ placeholder: match[1] as Placeholder })
    end = match.index + match[0].length
  }
  if (end < template.length) found.push({ literal: template.slice(end) })
  return found
}

export const hasPlaceholder = (template: Template, name: Placeholder): boolean => template.includes(`{${name}}`)

/** How much of a template is fixed text: the more, the more it says about what matches it. */
export const literalLength = (template: Template): number =>
  pieces(template).reduce((sum, piece) => sum + ('literal' in piece ? piece.literal.length : 0), 0)

/** The text, or the name of a placeholder for which nothing was given. */
export function fillTemplate(template: Template, filling: Filling): { text: string } | { lacks: Placeholder } {
  let text = ''
  for (const piece of pieces(template)) {
    if ('literal' in piece) text += piece.literal
    else {
      const value = filling[piece.placeholder]
      if (value === undefined) return { lacks: piece.placeholder }
      text += value
    }
  }
  return { text }
}

/** Values that placeholders may have, as patterns or as the one value that it can be. */
export type Allowed = Partial<Record<Placeholder, string>>

/** The pattern that a text of this template matches, with a group for each placeholder. */
export function templatePattern(template: Template, allowed: Allowed, { isOpen = false, fold = false } = {}): RegExp {
  const source = pieces(template)
    .map((piece) =>
      'literal' in piece ? escaped(piece.literal) : `(?<${piece.placeholder}>${allowed[piece.placeholder] ?? '(?!)'})`,
    )
    .join('')
  return new RegExp(`^${source}${isOpen ? '(?:/.*)?' : ''}$`, `u${fold ? 'i' : ''}${isOpen ? 's' : ''}`)
}

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
