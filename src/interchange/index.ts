export {
  type ExportDocument,
  type ExportedCall,
  type ExportedSession,
  type ExportedTurn,
  type ExportSource,
  exportDocument,
} from './document.js'
export { markdownOf } from './markdown.js'
export { pageOf } from './page.js'
export { restoredText } from './restored.js'
export { callGist, callNotes, missingLog, redactionsLine, turnNotes } from './wording.js'
