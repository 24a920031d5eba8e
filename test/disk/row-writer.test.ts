import { expect, it } from 'vitest'
import { openDatabase, RowWriter, Statements } from '../../src/disk/index.js'

function aTable(): Statements {
  const db = new Statements(openDatabase(':memory:'))
  db.database.exec('create table t (n integer primary key, word text not null)')
  return db
}

it.each([0, 1, 15, 16, 17, 100])('%i rows are all written', (count) => {
  const db = aTable()
  const rows = Array.from({ length: count }, (_, n) => ({ n, word: `word ${n}` }))
  const writer = new RowWriter(db, 't', ['n', 'word'])
  for (const { n, word } of rows) writer.add([n, word])
  writer.flush()
  writer.flush()
  expect(db.all('select n, word from t order by n').map((row) => ({ ...(row as object) }))).toEqual(rows)
})

it('a row that already exists ends the transaction', () => {
  const db = aTable()
  const twice = (): void =>
    db.inTransaction(() => {
      const writer = new RowWriter(db, 't', ['n', 'word'])
      for (let n = 0; n < 40; n += 1) writer.add([n % 20, 'word'])
      writer.flush()
    })
  expect(twice).toThrow(/UNIQUE/)
  expect(db.all('select n from t')).toEqual([])
})

it('a row that was added has a number, one that was not has none', () => {
  const db = aTable()
  const sql = 'insert or ignore into t (n, word) values (?, ?)'
  expect(db.insert(sql, 7, 'seven')).toBe(7)
  expect(db.insert(sql, 7, 'again')).toBeUndefined()
})
