import { isObject, type JsonObject, listAt, objectAt } from '../json-value.js'

/** What `opencode export` wrote, as the records of a log. */
export function* exportRecords(document: JsonObject): Iterable<JsonObject> {
  yield { session: objectAt(document, 'info') ?? {} }
  for (const entry of listAt(document, 'messages').filter(isObject)) {
    yield { message: objectAt(entry, 'info') ?? {}, parts: listAt(entry, 'parts') }
  }
}
