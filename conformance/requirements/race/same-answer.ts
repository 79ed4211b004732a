import { identical, retryable } from '../../run/checks.js';
import type { Answer } from '../../as4/answer.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'once/replay/6',
  title: 'copies that come together get one and the same Receipt',
  level: 'observe',
  says: 'ebMS 2.0 lets a copy wait for the response to the first; AS4 is silent',
  refs: ['ebMS 2.0 6.5.5'],
  sends: 'the same bytes over ten connections at once',
  expects: 'where identical answers are claimed: every answer is the same Receipt or asks the sender to come again',
  dependsOn: ['once/replay/2', 'as4/3.2/15'],
  claimed: ({ duplicate }) => duplicate === 'identical',
  async run(c) {
    const request = c.message().build();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => c.send(request, { label: `copy ${index + 1}` })),
    );
    c.observe([...new Set(answers.map(({ what, status }) => `${what} ${status ?? ''}`.trim()))].join(', '));
    const final = answers.filter((answer) => !retryable(answer));
    if (final.length === 0) throw new Broken('no copy got a final answer');
    for (const answer of final) identical(final[0] as Answer, answer, 'the answer to a copy');
  },
};
