/** Style of the HTML report: readable in light and dark, without a request to anywhere. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8886; --soft: #8881 }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem }
h1 { margin: .2em 0 }
h2 { margin: 1.6em 0 .4em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
.number { text-align: right; font-variant-numeric: tabular-nums }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; padding: .3rem .7rem }
summary { cursor: pointer }
pre {
  overflow: auto; max-height: 24rem; background: var(--soft); padding: .6rem; border-radius: .3rem;
  white-space: pre-wrap; word-break: break-all; font-size: .8rem
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem }
dt { font-weight: 600 }
dd { margin: 0 }
.tag { display: inline-block; min-width: 5.5em; font-weight: 600 }
.outcome { font-size: 1.2rem; font-weight: 600 }
.pass { color: #17803d } .fail, .error { color: #c3241c } .warning { color: #9a5b00 }
.observed { color: #1d5fb8 } .skipped, .blocked { color: #6b6b6b }
@media (prefers-color-scheme: dark) {
  .pass { color: #5ad07f } .fail, .error { color: #ff7b72 } .warning { color: #e8b04b }
  .observed { color: #79b8ff } .skipped, .blocked { color: #aaa }
}
`;
