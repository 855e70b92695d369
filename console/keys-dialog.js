import { h } from './dom.js'

/** @type {readonly (readonly [keys: string, does: string])[]} */
const keys = [
  ['/ or Ctrl K', 'Find a page, a name, an id, a tool or an error'],
  ['?', 'Show these keys'],
  ['v', 'Saved views of a list'],
  ['Ctrl C', 'Copy the id of the chosen link, when no text is selected'],
  ['← →', 'Step through the commits of an actor'],
  ['+ − 0', 'Zoom the chart, and fit it'],
  ['↑ ↓ ← →', 'Move the chart, while it has the focus'],
  ['j k', 'Next and previous call in Approvals'],
  ['x', 'Mark a call in Approvals'],
  ['a r', 'Approve or reject the marked calls, or the chosen one'],
  ['Enter', 'Show all payloads of a log'],
  ['Ctrl A', 'Select a whole log'],
  ['Home End', 'First and last row of a log'],
  ['Esc', 'Close a dialog, a panel or a form'],
]

/** The keys of the console, opened by `?`. */
export class KeysDialog {
  element = h(
    'dialog',
    { class: 'find keys-dialog', 'aria-label': 'Keys' },
    h('h2', {}, 'Keys'),
    h('dl', {}, ...keys.flatMap(([names, does]) => [h('dt', {}, h('kbd', {}, names)), h('dd', {}, does)])),
    h('form', { method: 'dialog' }, h('button', { class: 'quiet' }, 'Close')),
  )

  constructor() {
    addEventListener('keydown', ({ key, target }) => {
      const writes = target instanceof HTMLElement && target.matches('input, textarea, select')
      if (key === '?' && !writes && document.querySelector('dialog[open]') === null) this.element.showModal()
    })
  }
}
