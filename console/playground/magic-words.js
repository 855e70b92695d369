import { html } from '../html.js'

/** Commands of the simulated model: the label of the button, and the message that it sends. */
const words = /** @type {const} */ ([
  ['Use a tool', 'Use the tool refund for order 7'],
  ['Slow', 'Tell me something, slow please'],
  ['Fail', 'fail please'],
  ['Rate limit', 'rate limit please'],
  ['Cut off', 'Tell me something, cut please'],
  ['Malformed', 'Tell me something, malformed please'],
])

/** Whether the simulated model answers. @param {string} model '' for the default @param {readonly string[]} models */
export const isSimulated = (model, models) =>
  model.startsWith('simulated') ||
  (model === '' && models.length > 0 && models.every((id) => id.startsWith('simulated')))

/** @param {{ disabled: boolean, press: (input: string) => Promise<void> }} props */
export const MagicWords = ({ disabled, press }) => html`
  <div class="row act mb-10 [.form_&]:m-0" role="group" aria-label="Commands of the simulated model">
    ${words.map(([name, input]) => html`<button type="button" class="quiet" aria-disabled=${disabled} title=${input} onClick=${() => disabled || press(input)}>${name}</button>`)}
  </div>
`
