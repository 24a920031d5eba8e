import { SkeinError } from '../../model/index.js'
import { type ContentBlock, textOf } from '../transcript/transcript-format.js'
import type { SdkPrompt } from './agent-sdk.js'

/** Words, or words and images: `{ type: 'image', source: { type: 'base64', media_type, data } }`. */
export type TurnPrompt = string | readonly ContentBlock[]

export function promptText(prompt: TurnPrompt): string {
  return typeof prompt === 'string' ? prompt : textOf({ role: 'user', content: [...prompt], timestamp: 0 })
}

/** The blocks of a prompt whose words were shortened to `text` (a `/new` in front was taken off). */
export function promptBlocks(prompt: TurnPrompt, text: string): ContentBlock[] {
  const blocks: ContentBlock[] = typeof prompt === 'string' ? [] : prompt.map(checked)
  const isWhole = typeof prompt !== 'string' && promptText(prompt) === text
  if (isWhole) return blocks
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...blocks.filter(({ type }) => type !== 'text')]
}

/** As the SDK takes it: blocks other than text come as a stream of one message. */
export function sdkPrompt(blocks: readonly ContentBlock[]): () => SdkPrompt {
  const [only] = blocks
  if (only && blocks.length === 1 && only.type === 'text') return () => String(only.text)
  return async function* () {
    const message = { role: 'user', content: blocks }
    yield { type: 'user', message, parent_tool_use_id: null, session_id: '' }
  }
}

function checked(block: ContentBlock): ContentBlock {
  const source = block.type === 'image' ? (block as { source?: { type?: unknown } }).source : undefined
  if (block.type !== 'image' || typeof source?.type === 'string') return block
  throw new SkeinError(
    'bad-input',
    'An image in the prompt has no source',
    'Pass { type: "image", source: { type: "base64", media_type: "image/png", data } }',
  )
}
