import { html } from '../html.ts'

/** Commands of the simulated model: the label of the button, and the message that it sends. */
const words = [
  ['Use a tool', 'Use the tool refund for order 7'],
  ['Slow', 'Tell me something, slow please'],
  ['Fail', 'fail please'],
  ['Rate limit', 'rate limit please'],
  ['Cut off', 'Tell me something, cut please'],
  ['Malformed', 'Tell me something, malformed please'],
] as const

/** Whether the simulated model answers. @param model '' for the default */
export const isSimulated = (model: string, models: readonly string[]) =>
  model.startsWith('simulated') ||
  (model === '' && models.length > 0 && models.every((id) => id.startsWith('simulated')))

export const MagicWords = ({ disabled, press }: { disabled: boolean; press: (input: string) => Promise<void> }) => html`
  <div class="row act mb-10 [.form_&]:m-0" role="group" aria-label="Commands of the simulated model">
    <span class="muted">Simulated model</span>
    ${words.map(([name, input]) => html`<button type="button" class="quiet" aria-disabled=${disabled} title=${input} onClick=${() => disabled || press(input)}>${name}</button>`)}
  </div>
`
