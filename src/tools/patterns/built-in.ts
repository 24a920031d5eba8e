import { parseScreenRules, type ScreenRules } from '../screen/rules.js'
import claude from './claude.json' with { type: 'json' }
import codex from './codex.json' with { type: 'json' }
import gemini from './gemini.json' with { type: 'json' }
import opencode from './opencode.json' with { type: 'json' }
import pi from './pi.json' with { type: 'json' }

const FILES: Readonly<Record<string, unknown>> = { claude, codex, gemini, opencode, pi }
const parsed = new Map<string, ScreenRules>()

/** The rules that come with Skein. Parsed when they are first needed: most commands look at no screen. */
export function builtInRules(tool: string): ScreenRules {
  let rules = parsed.get(tool)
  if (!rules) {
    rules = parseScreenRules(FILES[tool], `the built-in rules of ${tool}`)
    parsed.set(tool, rules)
  }
  return rules
}
