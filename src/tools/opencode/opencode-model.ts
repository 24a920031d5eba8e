import { join } from 'node:path'
import { guardedText } from '../../disk/index.js'
import { readJson } from '../../model/index.js'
import { isObject, objectAt, textAt } from '../json-value.js'
import type { Environment } from '../log/log-tool.js'
import { withoutComments } from '../run/json-comments.js'
import { opencode } from './opencode.js'
import { OpencodeDatabase } from './opencode-database.js'

const MOST_BYTES = 4 * 1024 * 1024
const NAMES = ['config.json', 'opencode.json', 'opencode.jsonc']

/** The model that opencode uses in a directory, as `provider/model`: by its settings, else the one that was used last. */
export function opencodeModel(environment: Environment, cwd: string): string | undefined {
  const { home, env } = environment
  const user = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')
  // The nearest counts: what the variable holds is read after all files.
  const texts = [
    env.OPENCODE_CONFIG_CONTENT,
    ...[cwd, join(cwd, '.opencode')].flatMap((place) => NAMES.map((name) => textAtPath(join(place, name)))),
    env.OPENCODE_CONFIG && textAtPath(env.OPENCODE_CONFIG),
    ...NAMES.map((name) => textAtPath(join(user, name))),
  ]
  const configured = texts.map((text) => modelIn(text)).find((model) => model !== undefined)
  return configured ?? lastModel(environment)
}

const textAtPath = (path: string): string | undefined => guardedText(path, MOST_BYTES)

function modelIn(text: string | undefined): string | undefined {
  const settings = text ? readJson(withoutComments(text).replace(/,(\s*[}\]])/g, '$1')) : undefined
  const model = isObject(settings) ? textAt(settings, 'model') : undefined
  return model?.includes('/') ? model : undefined
}

/** Of the newest prompt in the session that was changed last. */
function lastModel(environment: Environment): string | undefined {
  const newest = opencode.discover(environment).sort((a, b) => (a.modified_at < b.modified_at ? 1 : -1))[0]
  if (!newest?.session) return undefined
  using database = new OpencodeDatabase(newest.path)
  const model = objectAt(database.lastPrompt(newest.session), 'model')
  const [provider, name] = [textAt(model, 'providerID'), textAt(model, 'modelID')]
  return provider && name ? `${provider}/${name}` : undefined
}
