// Shows code samples (curl, TypeScript, command line) for each operation, without opening "Try it out".

const sampleLanguages = { curl: 'curl', TypeScript: 'TypeScript', CLI: 'Command line' };

/** The selected language applies to all operations. */
const chosen = { language: 'curl', listeners: new Set() };

globalThis.mandateSamples = ({ React }) => {
  const { createElement: h, useEffect, useState } = React;

  function useLanguage() {
    const [language, setLanguage] = useState(chosen.language);
    useEffect(() => {
      chosen.listeners.add(setLanguage);
      return () => chosen.listeners.delete(setLanguage);
    }, []);
    return [
      language,
      (next) => {
        chosen.language = next;
        for (const listener of chosen.listeners) listener(next);
      },
    ];
  }

  function Samples({ samples }) {
    const [language, choose] = useLanguage();
    const [copied, setCopied] = useState('');
    const sample = samples.find((one) => one.lang === language) ?? samples[0];
    const copy = () => navigator.clipboard.writeText(sample.source).then(() => setCopied('Copied'));
    return h(
      // a group, not a landmark, because every open operation has such an element
      'div',
      { className: 'samples', role: 'group', 'aria-label': 'Samples' },
      h(
        'div',
        { className: 'samples-bar' },
        h(
          'div',
          { role: 'group', 'aria-label': 'Language of the sample' },
          samples.map(({ lang }) =>
            h(
              'button',
              { key: lang, type: 'button', 'aria-pressed': lang === sample.lang, onClick: () => (setCopied(''), choose(lang)) },
              sampleLanguages[lang] ?? lang,
            ),
          ),
        ),
        h('button', { type: 'button', className: 'copy', onClick: copy }, 'Copy'),
        h('span', { role: 'status' }, copied),
      ),
      h('pre', { tabIndex: 0, 'aria-label': `Sample in ${sampleLanguages[sample.lang] ?? sample.lang}` }, h('code', null, sample.source)),
    );
  }

  return {
    wrapComponents: {
      parameters: (Parameters) =>
        function ParametersWithSamples(props) {
          const samples = props.operation?.get('x-codeSamples')?.toJS();
          return h(React.Fragment, null, samples && h(Samples, { samples }), h(Parameters, props));
        },
    },
  };
};
