import { ApiError, callApi } from './api.js'
import { h } from './dom.js'

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
  const trouble = h('p', { class: 'trouble', role: 'alert', hidden: true })
  const button = h('button', { type: 'submit' }, 'Sign in')
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault()
    button.disabled = true
    trouble.hidden = true
    try {
      onSignedIn(
        await callApi(null, 'auth.login', { body: { email: email.input.value, password: password.input.value } }),
      )
    } catch (error) {
      trouble.textContent = error instanceof ApiError ? error.message : 'Something went wrong.'
      trouble.hidden = false
      password.input.select()
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
    trouble,
    button,
  )
  return { element: form, focus: () => email.input.focus() }
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
const field = (name, attributes) => {
  const input = h('input', { required: true, ...attributes })
  return { input, label: h('label', {}, name, input) }
}
