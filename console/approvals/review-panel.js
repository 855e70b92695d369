import { callApi, wordsOf } from '../api.js'
import { serverNow, time } from '../format.js'
import { html, typed, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { When } from '../parts/cells.js'
import { useRead } from '../parts/use-read.js'
import { sessionNow } from '../session.js'

/**
 * @typedef {Answers['project_members.list']['data'][number]} Member
 * @typedef {import('../answers.js').ActionReviewSummary} Review
 * @typedef {import('../answers.js').ActionComment} Comment
 */

const hourMs = 3_600_000

/** Times to which an action is often set aside, by their names. @param {Date} now @returns {readonly (readonly [string, Date])[]} */
const snoozeTimes = (now) => {
  const morning = (/** @type {number} */ days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9)
  return [
    ['1 hour', new Date(now.getTime() + hourMs)],
    ['Tomorrow', morning(1)],
    ['Next week', morning(7)],
  ]
}

/** The name of a member, or what is known of another author. @param {readonly Member[]} members @param {string | null} id */
export const nameIn = (members, id) => {
  const member = members.find((each) => each.id === id)
  return member === undefined ? (id ?? 'a caller of the API') : (member.name ?? member.email)
}

/**
 * Who is to decide about an action and when, and what was said about it.
 *
 * @param {{ project: string, action: { id: string, review: Review }, members: readonly Member[], done: () => void }} props
 */
export const ReviewPanel = ({ project, action: { id, review }, members, done }) => {
  const { assignee_id, snoozed_until, comment_count, version } = review
  const params = { action_id: id }
  const { member: me, decides } = sessionNow()
  const [trouble, setTrouble] = useState('')
  const [until, setUntil] = useState('')
  const read = useRead(`${id} ${comment_count}`, () => callApi(project, 'action_reviews.get', { params }))
  /** @param {Partial<Review>} changes */
  const update = async (changes) => {
    setTrouble('')
    // the version that is shown: what another person chose meanwhile is not lost
    const body = { assignee_id, snoozed_until, version, ...changes }
    await callApi(project, 'action_reviews.update', { params, body }).catch((error) =>
      setTrouble(
        error.code === 'version_conflict'
          ? 'Another person changed this meanwhile. Their choice is shown now: choose again.'
          : wordsOf(error),
      ),
    )
    done()
  }
  return html`
    <section class="stack mx-16 mt-12" aria-label="Review">
      <div class="row">
        <label class="flex items-center gap-8 text-soft">Assigned to
          <select disabled=${!decides} value=${assignee_id ?? ''} onChange=${typed((member) => void update({ assignee_id: member || null }))}>
            <option value="">no member</option>
            ${members.map((member) => html`<option value=${member.id} selected=${member.id === assignee_id}>${nameIn(members, member.id)}${member.id === me ? ' (you)' : ''}</option>`)}
          </select>
        </label>
        ${decides && assignee_id !== me && html`<button type="button" class="quiet" onClick=${() => update({ assignee_id: me })}>Assign to me</button>`}
      </div>
      <div class="row" role="group" aria-label="Snooze">
        ${snoozed_until === null ? html`<span class="muted">Snooze</span>` : html`<span class="chip" data-tone="wait">snoozed until ${time(snoozed_until)}</span>`}
        ${decides && snoozeTimes(serverNow()).map(([name, at]) => html`<button type="button" class="quiet" onClick=${() => update({ snoozed_until: at.toISOString() })}>${name}</button>`)}
        ${decides && html`<input type="datetime-local" aria-label="Snooze until" value=${until} onInput=${typed(setUntil)} />`}
        ${until !== '' && html`<button type="button" onClick=${() => update({ snoozed_until: new Date(until).toISOString() })}>Snooze</button>`}
        ${snoozed_until !== null && decides && html`<button type="button" class="quiet" onClick=${() => update({ snoozed_until: null })}>Wake up</button>`}
      </div>
      ${trouble !== '' && html`<p class="trouble" role="alert">${trouble}</p>`}
      <${Comments} project=${project} id=${id} comments=${read.data?.comments ?? []} members=${members} done=${done} />
    </section>
  `
}

/** @param {{ project: string, id: string, comments: readonly Comment[], members: readonly Member[], done: () => void }} props */
const Comments = ({ project, id, comments, members, done }) => {
  const [text, setText] = useState('')
  const add = async () => {
    await callApi(project, 'action_reviews.comment', { params: { action_id: id }, body: { text } })
    setText('')
    done()
  }
  return html`
    ${comments.length > 0 && html`<ol aria-label="Comments">${comments.map((comment) => html`<li key=${comment.id} class="pl-12 py-6 border-l-2 border-line wrap-anywhere"><p class="muted"><strong>${nameIn(members, comment.by.id)}</strong> <${When} at=${comment.created_at} /></p><p class="whitespace-pre-wrap">${comment.text}</p></li>`)}</ol>`}
    ${
      sessionNow().decides &&
      html`<form class="row" aria-label="Add a comment" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <textarea class="flex-[1_1_14em]" rows="1" aria-label="Comment" placeholder="Comment for others who decide" maxlength="2000" value=${text} onInput=${typed(setText)}></textarea>
        <${ActButton} label="Comment" disabled=${text.trim() === ''} act=${add} />
      </form>`
    }
  `
}
