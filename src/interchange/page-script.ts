/**
 * The page's own script: search, keys, the two buttons. It holds no data and makes no HTML, it only shows, hides and scrolls;
 * without it the page can still be read.
 */
export const PAGE_SCRIPT = `
'use strict'
const root = document.documentElement
const find = document.getElementById('find')
const count = document.getElementById('count')
const theme = document.getElementById('theme')
const fold = document.getElementById('fold')
const turns = [...document.querySelectorAll('main article[id]')]
const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]))
for (const one of [find, count, theme, fold]) one.hidden = false

let at = -1
let hits = []
let hit = -1

theme.onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset.theme = dark ? 'light' : 'dark'
}

fold.onclick = () => {
  const open = fold.getAttribute('aria-pressed') !== 'true'
  for (const one of document.querySelectorAll('details')) one.open = open
  fold.setAttribute('aria-pressed', String(open))
  fold.textContent = open ? 'Fold' : 'Unfold'
}

function textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  const texts = []
  while (walker.nextNode()) texts.push(walker.currentNode)
  return texts
}

// Texts that read as one, though some of the words are bold, code or a link.
function passagesIn(element) {
  const passages = []
  let last
  for (const text of textsIn(element)) {
    const box = text.parentElement.closest('p,li,h3,h4,h5,h6,th,td,pre,summary,div')
    if (box === last) passages.at(-1).push(text)
    else passages.push([text])
    last = box
  }
  return passages
}

function rangesIn(passage, pattern) {
  let node = 0
  let before = 0
  const place = (index, least) => {
    while (before + passage[node].length < index + least) before += passage[node++].length
    return [passage[node], index - before]
  }
  return [...passage.map((text) => text.data).join('').matchAll(pattern)].map((match) => {
    const range = new Range()
    range.setStart(...place(match.index, 1))
    range.setEnd(...place(match.index + match[0].length, 0))
    return range
  })
}

function search() {
  const words = find.value
  hits = []
  hit = -1
  const pattern = words === '' ? undefined : new RegExp(words.replace(/[\\\\^$.*+?()[\\]{}|/]/g, '\\\\$&'), 'giu')
  for (const turn of turns) {
    const before = hits.length
    if (pattern) {
      for (const passage of passagesIn(turn)) for (const range of rangesIn(passage, pattern)) hits.push(range)
    }
    const isHidden = pattern !== undefined && hits.length === before
    turn.hidden = isHidden
    const link = links.get(turn.id)
    if (link) link.parentElement.hidden = isHidden
  }
  if (globalThis.CSS && CSS.highlights) CSS.highlights.set('found', new Highlight(...hits.slice(0, 5000)))
  count.textContent = pattern ? hits.length + ' found' : ''
}

function nextHit(step) {
  if (hits.length === 0) return
  hit = (hit + step + hits.length) % hits.length
  const place = hits[hit].startContainer.parentElement
  for (let box = place.closest('details'); box; box = box.parentElement.closest('details')) box.open = true
  place.scrollIntoView({ block: 'center' })
  count.textContent = hit + 1 + ' of ' + hits.length
}

function go(step) {
  const shown = turns.filter((turn) => !turn.hidden)
  if (shown.length === 0) return
  const now = shown.indexOf(turns[at])
  const next = shown[Math.min(shown.length - 1, Math.max(0, now < 0 ? (step > 0 ? 0 : shown.length - 1) : now + step))]
  next.scrollIntoView()
  next.focus({ preventScroll: true })
  mark(turns.indexOf(next))
}

function mark(index) {
  at = index
  for (const link of links.values()) link.removeAttribute('aria-current')
  links.get(turns[index].id)?.setAttribute('aria-current', 'true')
}

find.oninput = search
find.onkeydown = (event) => {
  if (event.key === 'Enter') nextHit(event.shiftKey ? -1 : 1)
  if (event.key !== 'Escape') return
  find.value = ''
  search()
  find.blur()
}
addEventListener('hashchange', () => {
  const index = turns.findIndex((turn) => turn.id === location.hash.slice(1))
  if (index >= 0) mark(index)
})
addEventListener('keydown', (event) => {
  if (event.target === find || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === 'j') go(1)
  else if (event.key === 'k') go(-1)
  else if (event.key === '/') {
    event.preventDefault()
    find.focus()
    find.select()
  }
})
`
