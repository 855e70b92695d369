import { ApiError, callApi } from './api.js'
import { h } from './dom.js'

/** Longest address of a consent page to which a sign-in at a provider leads back. */
const maxReturn = 1400

/**
 * Records only that this browser has signed in before, so that a first visit sends no request that the server must
 * refuse.
 */
const signedInBefore = 'troupe.signed-in-before'

/** Whether this browser has signed in, and not out since. */
export const hasSignedIn = () => localStorage.getItem(signedInBefore) !== null

/** @param {boolean} isIn */
export const keepSignedIn = (isIn) => {
  if (isIn) localStorage.setItem(signedInBefore, 'yes')
  else localStorage.removeItem(signedInBefore)
}

/**
 * The form that signs a member in. The session is a cookie that no script can read.
 *
 * @param {(identity: Identity) => void} onSignedIn
 *
 * @typedef {{ member: { email: string, name: string | null, role: string }, organization: { name: string } }} Identity
 */
export const signInView = (onSignedIn) => {
  const email = field('E-mail', { name: 'email', type: 'email', autocomplete: 'username' })
  const password = field('Password', { name: 'password', type: 'password', autocomplete: 'current-password' })
  const code = field('Code of your authenticator, or a recovery code', { name: 'code', autocomplete: 'one-time-code' })
  code.input.required = false
  code.label.hidden = true
  const trouble = h('p', { class: 'trouble', role: 'alert', hidden: true })
  const button = h('button', { type: 'submit' }, 'Sign in')
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault()
    button.disabled = true
    trouble.hidden = true
    try {
      onSignedIn(
        await callApi(null, 'auth.login', {
          body: {
            email: email.input.value,
            password: password.input.value,
            ...(code.input.value === '' ? {} : { code: code.input.value }),
          },
        }),
      )
    } catch (error) {
      const isNext = error instanceof ApiError && error.code === 'second_factor_required'
      if (isNext || (!code.label.hidden && error instanceof ApiError && error.status === 401)) {
        code.label.hidden = false
        code.input.value = ''
        code.input.focus()
        if (isNext) return
      } else password.input.select()
      trouble.textContent = error instanceof ApiError ? error.message : 'Something went wrong.'
      trouble.hidden = false
    } finally {
      button.disabled = false
    }
  }
  const form = h(
    'form',
    { class: 'sign-in', submit: (event) => void submit(event) },
    h('h1', {}, 'Sign in'),
    email.label,
    password.label,
    code.label,
    trouble,
    button,
  )
  const report = (/** @type {unknown} */ error) => {
    trouble.textContent = error instanceof ApiError ? error.message : 'Something went wrong.'
    trouble.hidden = false
  }
  callApi(null, 'oidc_sign_in.providers').then(
    ({ data }) => form.append(...data.map(providerButton(report))),
    () => {},
  )
  return { element: form, focus: () => email.input.focus() }
}

/** Returns a button that leads to a provider. @param {(error: unknown) => void} report */
const providerButton =
  (report) =>
  (/** @type {{ id: string, name: string }} */ { id, name }) => {
    const lead = async () => {
      const here = location.pathname + location.search
      const back = here.startsWith('/oauth/authorize?') && here.length <= maxReturn ? { return_to: here } : {}
      const { url } = await callApi(null, 'oidc_sign_in.start', { body: { connection_id: id, ...back } })
      keepSignedIn(true)
      location.assign(url)
    }
    return h(
      'button',
      { type: 'button', class: 'quiet', click: () => void lead().catch(report) },
      `Sign in with ${name}`,
    )
  }

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
const field = (name, attributes) => {
  const input = h('input', { required: true, ...attributes })
  return { input, label: h('label', {}, name, input) }
}
