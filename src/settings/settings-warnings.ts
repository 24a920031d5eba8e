import { SkeinError } from '../model/index.js'
import { readSettings, settingsText } from './settings-file.js'
import { settingsFlaws } from './settings-keys.js'

/** What is wrong in a settings file, for who only has to say so. */
export async function settingsWarnings(file: string): Promise<string[]> {
  try {
    return settingsFlaws(await readSettings(file), settingsText(file) ?? '', file)
  } catch (error) {
    if (error instanceof SkeinError) return [`${error.message}. ${error.next}`]
    throw error
  }
}
