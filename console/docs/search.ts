import { h } from '../dom.ts'
import { type Entry, scoreOf, wordsOf } from './score.ts'

/* The search of the documentation. The index is fetched at the first use, and nothing is sent. */

const maxShown = 20
const snippetLength = 160

/** The element of the page with an id. */
const element = <E extends HTMLElement>(id: string, kind: new () => E): E => {
  const named = document.getElementById(id)
  if (named instanceof kind) return named
  throw new Error(`The page has no ${id}.`)
}

const field = element('find', HTMLInputElement)
const found = element('found', HTMLElement)

let index: Promise<readonly Entry[]> | null = null

const entries = (): Promise<readonly Entry[]> => {
  index ??= fetch('/docs/search.json').then((answer) => answer.json())
  return index
}

/** The text around the first word. */
const snippetOf = (text: string, words: readonly string[]) => {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? '') - 40)
  return `${at > 0 ? '…' : ''}${text.slice(at, at + snippetLength)}${text.length > at + snippetLength ? '…' : ''}`
}

let turn = 0

const show = async () => {
  const own = ++turn
  const words = wordsOf(field.value)
  if (words.length === 0) {
    found.hidden = true
    found.replaceChildren()
    return
  }
  const all = await entries()
  if (own !== turn) return
  const ranked = all
    .map((entry) => [scoreOf(entry, words), entry] as const)
    .filter(([score]) => score > 0)
    .sort(([a], [b]) => b - a)
  const count = h('p', { class: 'muted', role: 'status' }, `${ranked.length || 'Nothing'} found.`)
  const list = h('ol', {}, ...ranked.slice(0, maxShown).map(([, entry]) => itemOf(entry, words)))
  found.replaceChildren(count, ...(ranked.length === 0 ? [] : [list]))
  found.hidden = false
}

const itemOf = ([title, place, path, text]: Entry, words: readonly string[]) =>
  h(
    'li',
    {},
    h('a', { href: path }, title),
    h('span', { class: 'muted' }, ` ${place}`),
    h('p', { class: 'wrap-anywhere' }, snippetOf(text, words)),
  )

const close = () => {
  field.value = ''
  void show()
}

field.form?.addEventListener('submit', (event) => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
field.addEventListener('input', () => void show())
document.addEventListener('keydown', (event) => {
  const { activeElement } = document
  if (event.key === '/' && activeElement !== field) {
    event.preventDefault()
    field.focus()
  } else if (event.key === 'Escape' && !found.hidden) {
    close()
    field.focus()
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !found.hidden) {
    const stops = [field, ...found.querySelectorAll('a')]
    const at = stops.findIndex((each) => each.isSameNode(activeElement))
    if (at < 0) return
    event.preventDefault()
    stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
  }
})
// a link to a section of this page leads away from the results
found.addEventListener('click', ({ target }) => {
  if (target instanceof HTMLAnchorElement && target.pathname === location.pathname) close()
})

const wanted = new URLSearchParams(location.search).get('q')
if (wanted !== null) {
  field.value = wanted.slice(0, field.maxLength)
  void show()
}
const narrow = matchMedia('(max-width: 800px)')
const contents = document.querySelector('details.toc')
if (contents instanceof HTMLDetailsElement) contents.open = !narrow.matches
