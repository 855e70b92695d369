import { callApi } from '../api.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { typed } from '../parts/typed.js'
import { useState } from '../vendor/hooks.js'

/**
 * @typedef {import('./settings-page.js').Role} Role
 * @typedef {{ id: string, email: string, name: string | null, role: Role, has_second_factor: boolean }} Member
 */

/** @type {readonly Role[]} */
const roles = ['member', 'approver', 'admin', 'owner']

/**
 * Members who may sign in; owners can change them.
 *
 * @param {{ project: string, members: readonly Member[], me: { id: string, role: Role }, done: () => void }} props
 */
export const Members = ({ project, members, me, done }) => {
  const owns = me.role === 'owner'
  return html`
    <section class="panel" aria-label="Members">
      <h2>Members <span class="muted">members can read, approvers decide approvals, admins change the project, owners manage members</span></h2>
      <${Table} label="Members" columns=${['Member', 'Name', 'Role', 'Actions']} rows=${members.map((member) => rowOf({ project, owns, me, done }, member))} />
      ${owns && html`<${NewMember} project=${project} done=${done} />`}
    </section>
  `
}

/** @param {{ project: string, owns: boolean, me: { id: string }, done: () => void }} parts @param {Member} member */
const rowOf = ({ project, owns, me, done }, member) => {
  const { id, email, name, role } = member
  const remove = async () => {
    await callApi(project, 'project_members.delete', { params: { member_id: id } })
    done()
  }
  const reset = async () => {
    await callApi(project, 'project_members.reset_second_factor', { params: { member_id: id } })
    done()
  }
  return {
    key: id,
    cells: [
      html`${email}${id === me.id && html` <span class="muted">you</span>`}`,
      name ?? nothing,
      owns ? html`<${RolePicker} project=${project} member=${member} done=${done} />` : role,
      owns && id !== me.id
        ? html`<span class="decide">${member.has_second_factor && html`<${ActButton} label="Remove second factor" sure=${`${email} signs in with the password alone`} act=${reset} />`}<${ActButton} label="Remove" sure=${`Remove ${email}`} act=${remove} /></span>`
        : nothing,
    ],
  }
}

/** @param {{ project: string, member: Member, done: () => void }} props */
const RolePicker = ({ project, member: { id, email, role }, done }) => {
  const [chosen, choose] = useState(role)
  const change = async () => {
    await callApi(project, 'project_members.update', { params: { member_id: id }, body: { role: chosen } })
    done()
  }
  return html`<span class="decide"><select aria-label=${`Role of ${email}`} onChange=${typed((text) => choose(roles.find((each) => each === text) ?? role))}>${roles.map((each) => html`<option value=${each} selected=${each === chosen}>${each}</option>`)}</select>
    ${chosen !== role && html`<${ActButton} label=${`Make ${chosen}`} act=${change} />`}</span>`
}

/** @param {{ project: string, done: () => void }} props */
const NewMember = ({ project, done }) => {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [role, setRole] = useState('member')
  const add = async () => {
    await callApi(project, 'project_members.create', { body: { email, password, role } })
    setEmail('')
    setPassword('')
    done()
  }
  return html`<form class="filters" aria-label="New member" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>E-mail<input type="email" value=${email} autocomplete="off" onInput=${typed(setEmail)} /></label>
    <label>Initial password (12 characters or more)<input type="password" value=${password} autocomplete="new-password" onInput=${typed(setPassword)} /></label>
    <label>Role<select onChange=${typed(setRole)}>${roles.map((each) => html`<option value=${each} selected=${each === role}>${each}</option>`)}</select></label>
    <${ActButton} main label="Add member" disabled=${email === '' || password.length < 12} act=${add} />
  </form>`
}
