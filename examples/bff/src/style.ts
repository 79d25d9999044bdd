/** The stylesheet, which supports dark mode. */
export const stylesheetText = `
:root { color-scheme: light dark; --ink: light-dark(#1f2933, #e6e9ef); --faint: light-dark(#52606d, #aab4c3);
  --line: light-dark(#d9dfe6, #38414f); --page: light-dark(#f7f7f4, #15191f); --card: light-dark(#fff, #1e242d);
  --accent: light-dark(#0b6e4f, #7ad6b0); --on-accent: light-dark(#fff, #08251b); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between;
  padding: .75rem 1.5rem; border-bottom: 1px solid var(--line); background: var(--card); }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 3rem; }
a { color: var(--accent); }
.brand { color: inherit; font-size: 1.25rem; font-weight: 700; text-decoration: none; }
h1 { font-size: 1.5rem; } h2 { margin: 0; font-size: 1rem; } p { margin: 0 0 .5rem; }
ul { display: grid; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.products { grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); }
article, .orders li { height: 100%; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
.orders li { display: grid; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); gap: .5rem; }
article form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; justify-content: space-between; }
input { padding: .25rem .5rem; font: inherit; } input[type=number] { width: 4.5rem; }
button, .button { padding: .375rem .875rem; border: 1px solid var(--accent); border-radius: .375rem; background: var(--accent);
  color: var(--on-accent); font: inherit; text-decoration: none; cursor: pointer; }
button.quiet { background: none; color: var(--accent); }
table { width: 100%; margin-bottom: 1rem; border-collapse: collapse; }
th, td { padding: .375rem .5rem; border-bottom: 1px solid var(--line); text-align: left; }
.status { color: var(--faint); }
[role=alert] { padding: .75rem; border-radius: .375rem; background: light-dark(#fde8e8, #4a1d22); }
`;
