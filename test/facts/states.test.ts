import { describe, expect, it } from 'vitest'
import { exchangeFacts } from '#facts/extraction.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const observedAt = Date.UTC(2026, 10, 22)
const read = (user: string): readonly string[] =>
  atOnce(exchangeFacts({ user, assistant: '', observedAt })).map(
    ({ subject, relation, object, ended }) => `${subject} ${relation} ${object}${ended ? ' (ended)' : ''}`,
  )

describe('what lasts about a person', () => {
  it.each([
    ['I am vegetarian', 'user diet vegetarian'],
    ["I'm allergic to nuts", 'user allergic_to nuts'],
    ["I'm diabetic.", 'user condition diabetic'],
    ['I have type 2 diabetes.', 'user condition type 2 diabetes'],
    ["I've got asthma", 'user condition asthma'],
    ['I have high blood pressure', 'user condition high blood pressure'],
    ['I have trouble sleeping.', 'user condition trouble sleeping'],
    ['I have a bad knee', 'user condition bad knee'],
    ['I was diagnosed with ADHD', 'user condition ADHD'],
    ["I'm deaf in one ear", 'user condition deaf in one ear'],
    ['I am left-handed', 'user condition left-handed'],
    ["I'm on blood thinners", 'user takes blood thinners'],
    ['My son has asthma.', "user's son condition asthma"],
    ['My wife is pregnant.', "user's partner condition pregnant"],
    ["I'm a night owl", 'user trait night owl'],
    ['I am a wheelchair user.', 'user trait wheelchair user'],
    ["I'm Muslim", 'user religion Muslim'],
    ["I'm married.", 'user marital_status married'],
    ["I'm afraid of heights", 'user fears heights'],
    ["I don't smoke.", 'user avoids smoke'],
    ['I have a drinking problem', 'user has drinking problem'],
    ['I have a meeting every Tuesday at 9', 'user has meeting every Tuesday at 9'],
    ['Every Sunday I call my mother.', 'user schedule Every Sunday I call my mother'],
    ['On Tuesdays I have piano lessons', 'user schedule On Tuesdays I have piano lessons'],
    ['I am not available on weekends.', 'user schedule I am not available on weekends'],
    ['We are closed from monday to wednesday', 'user schedule We are closed from monday to wednesday'],
    ['I have dialysis three times a week', 'user schedule I have dialysis three times a week'],
    ['I am not vegetarian', 'user diet vegetarian (ended)'],
    ["I'm no longer diabetic.", 'user condition diabetic (ended)'],
  ])('is read in: %s', (text, fact) => {
    expect(read(text)).toEqual([fact])
  })

  it.each([
    ...["I'm hungry", "I'm tired today", "I'm not sure what you mean", "I'm ready", "I'm stuck", 'I am confused'],
    ...['I have no idea', 'I have to go', "I'm a bit lost", "I'm on it", 'I have diagnosis data', 'I have energy'],
    ...['I have a question', 'I have a couple of quick questions about taxes', "I've got an idea", 'I get an error'],
    ...['We have a problem with the printer', 'I had a great idea for a book'],
    ...['I am a user of your app', 'I am a new user', 'I have empathy for him'],
    ...["I'm afraid of losing my data", "I'm at the station", "I don't follow", 'I am aware of that'],
    ...['Am I diabetic?', 'Is my meeting every Tuesday?', 'What if I have asthma?', 'If I am diabetic, what then'],
    ...['I might have asthma', 'I would be left-handed', 'Suppose I am diabetic', 'I wish I were left-handed'],
    ...['I am not sure if I am diabetic', 'My friend asked whether I am diabetic', 'He is diabetic', 'You have asthma'],
    ...['Many people have asthma', 'Every Tuesday she has a meeting', 'On Mondays the shop is closed'],
    ...['"I have asthma," she said', 'He told me "I have asthma and I am vegetarian."', 'Translate "I am deaf" please'],
    ...['She said "I am diabetic. I have asthma."', 'My task is to write a script that runs every day'],
    ...['Every Sunday I would call my mother', 'Write a story where I am a diabetic wizard'],
  ])('is not read in: %s', (text) => {
    expect(read(text)).toEqual([])
  })
})
