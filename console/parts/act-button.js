import { wordsOf } from '../api.js'
import { html, useState } from '../html.js'

/**
 * A button that runs a server action, one at a time. An error is shown next to it, with its code. It keeps the focus
 * while it is disabled.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {() => Promise<unknown>} props.act
 * @param {string} [props.sure] label that requests confirmation of an irreversible action, by a second press
 * @param {boolean} [props.main] the main button of its form: Enter in a field presses it
 * @param {boolean} [props.quiet] false: it stands out without being the main button
 * @param {boolean} [props.disabled]
 */
export const ActButton = ({ label, act, sure, main = false, quiet = !main, disabled = false }) => {
  const [stage, setStage] = useState(/** @type {'ready' | 'sure' | 'busy'} */ ('ready'))
  const [trouble, setTrouble] = useState('')
  const press = async () => {
    if (disabled || stage === 'busy') return
    if (sure !== undefined && stage === 'ready') return setStage('sure')
    setStage('busy')
    setTrouble('')
    await act().catch((error) => setTrouble(wordsOf(error)))
    setStage('ready')
  }
  return html`
    <button type=${main ? 'submit' : 'button'} class=${quiet ? 'quiet' : ''} data-tone=${stage === 'sure' ? 'bad' : undefined} aria-disabled=${disabled || stage === 'busy'} onClick=${press} onBlur=${() => stage === 'sure' && setStage('ready')}>${stage === 'sure' ? sure : label}</button>
    ${trouble !== '' && html` <span class="trouble" role="alert">${trouble}</span>`}
  `
}
