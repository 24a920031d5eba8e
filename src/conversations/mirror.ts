import { NO_USAGE, type TranscriptMessage } from './transcript-format.js'

export interface Delivered {
  text?: string
  mediaUrls?: readonly string[]
}

/** What the transcript says about a delivery: its media by file name, else its text; undefined when it had neither. */
export function mirrorText({ text, mediaUrls = [] }: Delivered): string | undefined {
  const names = mediaUrls.map(mediaName).filter((name) => name !== '')
  if (mediaUrls.length > 0) return names.length > 0 ? names.join(', ') : 'media'
  return text?.trim() || undefined
}

function mediaName(url: string): string {
  const path = url.trim().replace(/[?#].*$/s, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** A message that the gateway sent, not the model: no usage, and a model name that says so. */
export const mirrorMessage = (text: string): Omit<TranscriptMessage, 'timestamp'> => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  api: 'openai-responses',
  provider: 'openclaw',
  model: 'delivery-mirror',
  usage: NO_USAGE,
  stopReason: 'stop',
})
