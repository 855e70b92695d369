import { ApiError, callApi } from './api.ts'
import { h } from './dom.ts'
import { html, render, useEffect, useRef, useState } from './html.ts'
import { Trouble } from './parts/trouble.ts'
import { useRead } from './parts/use-read.ts'

/** Longest address of a consent page to which a sign-in at a provider leads back. */
const maxReturn = 1400

/** Records only that this browser has signed in before, so that a first visit sends no request that the server must refuse. */
const signedInBefore = 'troupe.signed-in-before'

/** Whether this browser has signed in, and not out since. */
export const hasSignedIn = () => localStorage.getItem(signedInBefore) !== null

export const keepSignedIn = (isIn: boolean) => {
  if (isIn) localStorage.setItem(signedInBefore, 'yes')
  else localStorage.removeItem(signedInBefore)
}

/** The form that signs a member in. The session is a cookie that no script can read. @param view where it is shown */
export const showSignIn = (view: HTMLElement, onSignedIn: () => void) => {
  const form = h('div')
  render(html`<${SignIn} onSignedIn=${onSignedIn} />`, form)
  view.replaceChildren(form)
  form.querySelector('input')?.focus()
}

const SignIn = ({ onSignedIn }: { onSignedIn: () => void }) => {
  const [trouble, setTrouble] = useState('')
  const [busy, setBusy] = useState(false)
  /** Whether the code of an authenticator is requested. */
  const [coded, setCoded] = useState(false)
  const code = useRef<HTMLInputElement | null>(null)
  const password = useRef<HTMLInputElement | null>(null)
  const providers = useRead('providers', () => callApi(null, 'oidc_sign_in.providers'))
  useEffect(() => code.current?.focus(), [coded])
  const report = (error: unknown) => setTrouble(error instanceof ApiError ? error.message : 'Something went wrong.')
  const refused = (error: unknown) => {
    const isNext = error instanceof ApiError && error.code === 'second_factor_required'
    if (isNext) return setCoded(true)
    if (code.current === null) password.current?.select()
    else {
      code.current.value = ''
      code.current.focus()
    }
    report(error)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const filledIn = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '')
    setBusy(true)
    setTrouble('')
    await callApi(null, 'auth.login', { body: Object.fromEntries(filledIn) }).then(onSignedIn, refused)
    setBusy(false)
  }
  return html`
    <form class="sign-in" onSubmit=${submit}>
      <h1>Sign in</h1>
      <label>E-mail<input name="email" type="email" autocomplete="username" required /></label>
      <label>Password<input name="password" type="password" autocomplete="current-password" required ref=${password} /></label>
      ${coded && html`<label>Code of your authenticator, or a recovery code<input name="code" autocomplete="one-time-code" ref=${code} /></label>`}
      <${Trouble} error=${trouble} />
      <button type="submit" disabled=${busy}>Sign in</button>
      ${providers.data?.data.map(({ id, name }) => html`<button type="button" class="quiet" onClick=${() => lead(id).catch(report)}>Sign in with ${name}</button>`)}
    </form>
  `
}

/** Leads to the sign-in at a provider. */
const lead = async (connection_id: string) => {
  const here = location.pathname + location.search
  const back = here.startsWith('/oauth/authorize?') && here.length <= maxReturn ? { return_to: here } : {}
  const { url } = await callApi(null, 'oidc_sign_in.start', { body: { connection_id, ...back } })
  keepSignedIn(true)
  location.assign(url)
}
