import { h } from '../dom.js'
import { scoreOf, wordsOf } from './score.js'

/* The search of the documentation. The index is fetched at the first use, and nothing is sent. */

/** @typedef {import('./score.js').Entry} Entry */

const maxShown = 20
const snippetLength = 160

const field = /** @type {HTMLInputElement} */ (document.getElementById('find'))
const found = /** @type {HTMLElement} */ (document.getElementById('found'))

/** @type {Promise<readonly Entry[]> | null} */
let index = null

/** @returns {Promise<readonly Entry[]>} */
const entries = () => {
  index ??= fetch('/docs/search.json').then((answer) => answer.json())
  return index
}

/** The text around the first word. @param {string} text @param {readonly string[]} words */
const snippetOf = (text, words) => {
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
    .map((entry) => /** @type {const} */ ([scoreOf(entry, words), entry]))
    .filter(([score]) => score > 0)
    .sort(([a], [b]) => b - a)
  const count = h('p', { class: 'muted', role: 'status' }, `${ranked.length || 'Nothing'} found.`)
  const list = h('ol', {}, ...ranked.slice(0, maxShown).map(([, entry]) => itemOf(entry, words)))
  found.replaceChildren(count, ...(ranked.length === 0 ? [] : [list]))
  found.hidden = false
}

/** @param {Entry} entry @param {readonly string[]} words */
const itemOf = ([title, place, path, text], words) =>
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
