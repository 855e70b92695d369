/** Regular verbs. */
const regular =
  'live reside work relocate settle join hire employ start switch change accept land marry date study attend enrol enroll transfer adopt own visit travel tour return like love enjoy adore prefer hate dislike detest avoid react play practise practice use report manage train bank turn call name raise emigrate immigrate move stay follow want plan stop divorce retire resign replace update rename trade swap lease graduate major learn commute celebrate share insure collect cook bake paint admire mentor found acquire supervise treat consult register rent purchase decide hope need hike'
const irregular: Readonly<Record<string, string>> = {
  be: 'am is are was were been being',
  have: 'has had having',
  do: 'does did doing done',
  go: 'goes went going gone',
  get: 'gets got getting gotten',
  take: 'takes took taking taken',
  make: 'makes made making',
  buy: 'buys bought buying',
  drive: 'drives drove driving driven',
  eat: 'eats ate eating eaten',
  speak: 'speaks spoke speaking spoken',
  know: 'knows knew knowing known',
  meet: 'meets met meeting',
  begin: 'begins began beginning begun',
  become: 'becomes became becoming',
  grow: 'grows grew growing grown',
  come: 'comes came coming',
  leave: 'leaves left leaving',
  quit: 'quits quitting',
  sell: 'sells sold selling',
  lose: 'loses lost losing',
  fly: 'flies flew flying flown',
  spend: 'spends spent spending',
  teach: 'teaches taught teaching',
  keep: 'keeps kept keeping',
  see: 'sees saw seeing seen',
  write: 'writes wrote writing written',
  hail: 'hails hailing',
  stand: 'stands standing stood',
  break: 'breaks broke breaking broken',
  run: 'runs ran running',
  ride: 'rides rode riding',
  give: 'gives gave giving given',
}

const forms = new Map<string, string>()

for (const base of regular.split(' ')) {
  const stem = base.endsWith('e') ? base.slice(0, -1) : base
  const ys = /[^aeiou]y$/.test(base) ? base.slice(0, -1) : null
  const doubled = /^(?:plan|stop|enrol|transfer|swap|prefer|travel)$/.test(base) ? base + base.at(-1) : stem
  for (const form of [base, ys === null ? `${base}s` : `${ys}ies`, ys === null ? `${doubled}ed` : `${ys}ied`])
    forms.set(form, base)
  forms.set(`${doubled}ing`, base)
  forms.set(`${base}es`, base)
  forms.set(`${base}ed`, base)
}
for (const [base, others] of Object.entries(irregular)) {
  for (const form of [base, ...others.split(' ')]) forms.set(form, base)
}

/** Returns the base form of a known verb; other words are unchanged. */
export const lemmaOf = (low: string): string => forms.get(low) ?? low

/** Whether a word is a form of a known verb. */
export const isVerb = (low: string): boolean => forms.has(low)
