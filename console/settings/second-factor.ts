import { callApi } from '../api.ts'
import { html, typed, useEffect, useRef, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'

export type Factor = Answers['second_factor.get']
type Offer = Answers['second_factor.enrol']

/** The second factor of the signed-in member: sets it up, shows its recovery codes once, and disables it. */
export const SecondFactor = (props: Props & { state: Factor }) => {
  const { state, done } = props
  const { enabled, required, recovery_codes_left } = state
  const [offer, setOffer] = useState<Offer | null>(null)
  const [codes, setCodes] = useState<readonly string[]>([])
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const cleared = () => {
    setPassword('')
    setCode('')
    setOffer(null)
  }
  const enrol = async () => setOffer(await callApi(null, 'second_factor.enrol', { body: { password } }))
  const show = async (id: 'second_factor.confirm' | 'second_factor.recovery_codes') => {
    setCodes((await callApi(null, id, { body: { code } })).recovery_codes)
    cleared()
  }
  const disable = async () => {
    await callApi(null, 'second_factor.disable', { body: { password, code } })
    cleared()
    done()
  }
  const hide = async () => {
    setCodes([])
    done()
  }
  const passwordField = html`<label>Password<input type="password" value=${password} autocomplete="current-password" onInput=${typed(setPassword)} /></label>`
  const codeField = html`<label>Code<input value=${code} autocomplete="one-time-code" maxlength="64" onInput=${typed(setCode)} /></label>`
  const still = (event: Event) => event.preventDefault()
  return html`
    <section class="panel" aria-label="Second factor">
      <h2>Second factor <span class="muted">${enabled ? `in use, ${recovery_codes_left} recovery codes left` : 'not set up'}</span></h2>
      ${
        codes.length > 0
          ? html`<div class="panel-part"><p>Each of these codes replaces one of your authenticator, once. They are shown this once: keep them where you find them without your phone.</p>
            <pre class="body" tabindex="0">${codes.join('\n')}</pre><${ActButton} label="I have kept them" act=${hide} /></div>`
          : offer !== null
            ? html`<form class="panel-part" aria-label="Confirm the second factor" onSubmit=${still}>
              <p>Scan the picture with your authenticator, or type its key: <code>${offer.secret}</code></p>
              <${Picture} svg=${offer.qr} />${codeField}
              <${ActButton} main label="Confirm" disabled=${code === ''} act=${() => show('second_factor.confirm')} /></form>`
            : enabled
              ? html`<form class="filters" aria-label="Change the second factor" onSubmit=${still}>${passwordField}${codeField}
                <${ActButton} label="New recovery codes" disabled=${code === ''} act=${() => show('second_factor.recovery_codes')} />
                ${!required && html`<${ActButton} label="Disable" sure="Sign in with the password alone" disabled=${code === '' || password === ''} act=${disable} />`}</form>`
              : html`<form class="filters" aria-label="Set up a second factor" onSubmit=${still}>${passwordField}
                <${ActButton} main label="Set up" disabled=${password === ''} act=${enrol} /></form>`
      }
    </section>
  `
}

/** A QR code, as the server has drawn it. */
const Picture = ({ svg }: { svg: string }) => {
  const place = useRef<HTMLElement | null>(null)
  useEffect(() => {
    const drawn = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
    for (const [name, value] of Object.entries({ width: '200', height: '200', role: 'img', 'aria-label': 'QR code' }))
      drawn.setAttribute(name, value)
    place.current?.replaceChildren(drawn)
  }, [svg])
  return html`<div class="[&_svg]:p-8 [&_svg]:bg-[#fff]" ref=${place}></div>`
}
