import { h } from './dom.ts'
import { html, render } from './html.ts'
import { isFree } from './parts/keys.ts'

const keys: Readonly<Record<string, string>> = {
  '/ or Ctrl K': 'Find a page, a name, an id, a tool or an error',
  '?': 'Show these keys',
  v: 'Saved views of a list',
  'Ctrl C': 'Copy the id of the chosen link, when no text is selected',
  '← →': 'Step through the commits of an actor',
  '+ − 0': 'Zoom the chart, and fit it',
  '↑ ↓ ← →': 'Move the chart, while it has the focus',
  'j k': 'Next and previous call in Approvals',
  x: 'Mark a call in Approvals',
  'a r': 'Approve or reject the marked calls, or the chosen one',
  Enter: 'Show all payloads of a log',
  'Ctrl A': 'Select a whole log',
  'Home End': 'First and last row of a log',
  Esc: 'Close a dialog, a panel or a form',
}

/** The keys of the console, opened by `?`. */
export const keysDialog = () => {
  const dialog = h('dialog', {
    class: 'find keys-dialog w-[min(560px,calc(100%-24px))] px-22 py-18',
    'aria-label': 'Keys',
  })
  const rows = Object.entries(keys).map(([names, does]) => html`<dt><kbd>${names}</kbd></dt><dd>${does}</dd>`)
  render(
    html`<h2 class="text-15">Keys</h2><dl class="mt-12 mb-16">${rows}</dl><form method="dialog"><button class="quiet">Close</button></form>`,
    dialog,
  )
  addEventListener('keydown', (event) => {
    if (event.key === '?' && isFree(event)) dialog.showModal()
  })
  return dialog
}
