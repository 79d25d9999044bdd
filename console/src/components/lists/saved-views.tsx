import { Button, Menu, TextInput } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { Icon } from '../icon.tsx';

type View = { readonly name: string; readonly search: string };

/** Menu of the filters that the user has saved for a list in this browser. */
export function SavedViews({ list }: { readonly list: string }): ReactNode {
  const t = useCommonTranslations();
  const [parameters, setParameters] = useSearchParams();
  const [views, setViews] = useLocalStorage<View[]>({
    key: `mandate console views ${list}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [isNaming, naming] = useDisclosure(false);
  const save = (name: string): void => {
    const search = new URLSearchParams(parameters);
    search.delete('cursor');
    setViews([...views.filter((view) => view.name !== name), { name, search: search.toString() }]);
    naming.close();
  };
  return (
    <>
      <Menu position="bottom-end" width={240} withinPortal>
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="bookmark" size={16} />}>
            {t('list.views')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>{t('list.noViews')}</Menu.Label>}
          {views.map(({ name, search }) => (
            <Menu.Item key={name} onClick={() => setParameters(new URLSearchParams(search))}>
              {name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={naming.open}>{t('list.saveView')}</Menu.Item>
          {views.map(({ name }) => (
            <Menu.Item key={name} onClick={() => setViews(views.filter((view) => view.name !== name))}>
              {t('list.removeView', { name })}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Dialog title={t('list.saveView')} isOpen={isNaming} onClose={naming.close}>
        <ViewNameForm onSave={save} />
      </Dialog>
    </>
  );
}

function ViewNameForm({ onSave }: { readonly onSave: (name: string) => void }): ReactNode {
  const t = useCommonTranslations();
  const [name, setName] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onSave(name.trim());
      }}
    >
      <TextInput
        data-autofocus
        label={t('list.viewName')}
        maxLength={60}
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button mt="md" type="submit">
        {t('list.save')}
      </Button>
    </form>
  );
}
