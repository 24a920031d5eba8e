import { isObject, type JsonObject, listAt } from '../json-value.js'

/** The older form: the header's fields and the list of messages in one object. */
export function* documentRecords(document: JsonObject): Iterable<JsonObject> {
  const { messages: _, ...header } = document
  yield header
  yield* listAt(document, 'messages').filter(isObject)
}
