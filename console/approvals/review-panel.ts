import type { ActionComment as Comment, ActionReviewSummary as Review } from '../answers.d.ts'
import { callApi, wordsOf } from '../api.ts'
import { serverNow, time } from '../format.ts'
import { html, typed, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { When } from '../parts/cells.ts'
import { Trouble } from '../parts/trouble.ts'
import { useRead } from '../parts/use-read.ts'
import { sessionNow } from '../session.ts'

export type Member = Answers['project_members.list']['data'][number]

const hourMs = 3_600_000

/** Times to which an action is often set aside, by their names. */
const snoozeTimes = (now: Date): readonly (readonly [string, Date])[] => {
  const morning = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9)
  return [
    ['1 hour', new Date(now.getTime() + hourMs)],
    ['Tomorrow', morning(1)],
    ['Next week', morning(7)],
  ]
}

/** The name of a member, or what is known of another author. */
export const nameIn = (members: readonly Member[], id: string | null) => {
  const member = members.find((each) => each.id === id)
  return member === undefined ? (id ?? 'a caller of the API') : (member.name ?? member.email)
}

/** Who is to decide about an action and when, and what was said about it. */
export const ReviewPanel = (props: Props & { action: { id: string; review: Review }; members: readonly Member[] }) => {
  const { project, action, members, done } = props
  const { id, review } = action
  const { assignee_id, snoozed_until, comment_count, version } = review
  const params = { action_id: id }
  const { member: me, decides } = sessionNow()
  const [trouble, setTrouble] = useState('')
  const [until, setUntil] = useState('')
  const read = useRead(`${id} ${comment_count}`, () => callApi(project, 'action_reviews.get', { params }))
  const update = async (changes: Partial<Review>) => {
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
      <${Trouble} error=${trouble} />
      <${Comments} project=${project} id=${id} comments=${read.data?.comments ?? []} members=${members} done=${done} />
    </section>
  `
}

const Comments = (props: Props & { comments: readonly Comment[]; members: readonly Member[] }) => {
  const { project, id, comments, members, done } = props
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
      html`<form class="row" aria-label="Add a comment" onSubmit=${(event: Event) => event.preventDefault()}>
        <textarea class="flex-[1_1_14em]" rows="1" aria-label="Comment" placeholder="Comment for others who decide" maxlength="2000" value=${text} onInput=${typed(setText)}></textarea>
        <${ActButton} label="Comment" disabled=${text.trim() === ''} act=${add} />
      </form>`
    }
  `
}
