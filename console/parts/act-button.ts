import { wordsOf } from '../api.ts'
import { html, useState } from '../html.ts'

/**
 * A button that runs a server action, one at a time. An error is shown next to it, with its code. It keeps the focus
 * while it is disabled.
 */
export const ActButton = (
  props: Props & {
    act: () => Promise<unknown>
    /** label that requests confirmation of an irreversible action, by a second press */
    sure?: string
    /** the main button of its form: Enter in a field presses it */
    main?: boolean
    /** false: it stands out without being the main button */
    quiet?: boolean
    disabled?: boolean
  },
) => {
  const { label, act, sure, main = false, quiet = !main, disabled = false } = props
  const [stage, setStage] = useState<'ready' | 'sure' | 'busy'>('ready')
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
